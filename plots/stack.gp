# Parts of a whole, a row a machine. Columns: row, begin, end, half of the
# bar's height.
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
		using 2:1:2:3:($1 - $4):($1 + $4) \
		with boxxyerror lc rgb C[i + 1]
	unset label
}
unset multiplot
