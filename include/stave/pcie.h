/*
 * What a PCI Express link can carry. Figures of the standard and arithmetic on
 * them; nothing is read here.
 */
#ifndef STAVE_PCIE_H
#define STAVE_PCIE_H

#include <stdbool.h>

#define SV_PCIE_MAX_GENERATION 6u

/*
 * Bytes that packets of data cost beside what they carry: framing, sequence
 * number, header of three double words, link CRC. Source: Intel application
 * note AN 708, "PCI Express High Performance Reference Design".
 */
#define SV_PCIE_PACKET_OVERHEAD_BYTES 20.0

/* Most that hardware uses in a packet where nobody says how much. */
#define SV_PCIE_USUAL_PAYLOAD_BYTES 256.0

/* Whether a link can be this wide. Source: PCI Express Base, Link Width. */
static inline bool sv_pcie_width_known(unsigned width)
{
	return width == 1 || width == 2 || width == 4 || width == 8 ||
	       width == 12 || width == 16 || width == 32;
}

/*
 * Bytes a second in one direction of the wires of a link, after their coding;
 * 0 for a generation or width that there is none of. Source: PCI Express Base
 * 6.0: 8b/10b to generation 2, 128b/130b to 5, flits of 256 bytes with 236 of
 * packets in 6.
 */
static inline double sv_pcie_wire_Bps(unsigned generation, unsigned width)
{
	static const double transfers_per_s[] = {
	    0.0, 2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9};
	double coding = generation <= 2	  ? 8.0 / 10.0
			: generation <= 5 ? 128.0 / 130.0
					  : 236.0 / 256.0;

	if (generation > SV_PCIE_MAX_GENERATION || !sv_pcie_width_known(width))
		return 0.0;
	return transfers_per_s[generation] * coding * width / 8.0;
}

/*
 * Bytes a second of data that such a link carries at most in one direction,
 * in packets of payload_bytes (0: as usual); 0 as above.
 */
static inline double sv_pcie_ceiling_Bps(
    unsigned generation, unsigned width, unsigned payload_bytes)
{
	double payload = payload_bytes > 0 ? (double)payload_bytes
					   : SV_PCIE_USUAL_PAYLOAD_BYTES;

	return sv_pcie_wire_Bps(generation, width) * payload /
	       (payload + SV_PCIE_PACKET_OVERHEAD_BYTES);
}

#endif
