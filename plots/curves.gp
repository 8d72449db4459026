# Values against sizes, batches or workers: marks first, then curves with
# their intervals on top.
set multiplot
do for [p = 1:PANELS] {
	set lmargin at screen L[p]
	set rmargin at screen R[p]
	set bmargin at screen B[p]
	set tmargin at screen T[p]
	set xrange [X0[p]:X1[p]]
	set yrange [Y0[p]:Y1[p]]
	plot for [i = MARK0[p]:MARK1[p]] $data index i using 1:2 \
		with lines lc rgb C[i + 1] dt '.' lw 1.2, \
	     for [i = TRACE0[p]:TRACE1[p]] $data index i \
		using 1:3:(0):($4 - $3) \
		with vectors nohead lc rgb C[i + 1] dt 1 lw 1.2, \
	     for [i = TRACE0[p]:TRACE1[p]] $data index i using 1:2 \
		with linespoints lc rgb C[i + 1] dt D[i + 1] lw 2 \
		pt S[i + 1] ps 0.6
	unset label
}
unset multiplot
