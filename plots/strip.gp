# Every round of every row; what lies outside stands at the edge, hollow.
# Columns: place along x, row, whether it lies outside.
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
	plot for [i = MARK0[p]:MARK1[p]] $data index i using 1:2 \
		with lines lc rgb C[i + 1] lw 0.8 lt 1, \
	     for [i = TRACE0[p]:TRACE1[p]] $data index i \
		using ($3 == 0 ? $1 : NaN):2 \
		with points lc rgb C[i + 1] pt S[i + 1] ps 0.5, \
	     for [i = TRACE0[p]:TRACE1[p]] $data index i \
		using ($3 != 0 ? $1 : NaN):2 \
		with points lc rgb C[i + 1] pt 6 ps 0.7
	unset label
}
unset multiplot
