# One look for every picture. The program puts terminal, sizes and data before
# this, as variables and one datablock, and a family of pictures after it; no
# text of a file gets here but in single quotes, where gnuplot replaces
# nothing.
#
# Colours are Okabe and Ito's, which people with any kind of colour vision can
# tell apart (jfly.uni-koeln.de/color), without their yellow, which paper does
# not show.
set encoding utf8
set key off
set border 3 lc rgb INK lw 0.8
set tics nomirror out scale 0.5 textcolor rgb INK font ',12'
set xtics offset 0,0.4
set ytics offset 0.4,0
set grid lc rgb GRID lw 0.8 lt 1
set grid noxtics
set style fill solid 1.0 noborder
set datafile separator whitespace
