# Costs from zero, a row a case and a bar a machine; the interval is the thin
# line. Columns: place, value, low, high, half of the bar's height.
unset ytics
set grid xtics noytics
set multiplot
do for [p = 1:PANELS] {
	set lmargin at screen L[p]
	set rmargin at screen R[p]
	set bmargin at screen B[p]
	set tmargin at screen T[p]
	set xrange [X0[p]:X1[p]]
	set yrange [Y0[p]:Y1[p]]
	plot for [i = TRACE0[p]:TRACE1[p]] $data index i \
		using 2:1:(0):2:($1 - $5):($1 + $5) \
		with boxxyerror lc rgb C[i + 1], \
	     for [i = TRACE0[p]:TRACE1[p]] $data index i \
		using 3:1:($4 - $3):(0) \
		with vectors heads size screen 0.003,90 lc rgb INK lw 1
	unset label
}
unset multiplot
