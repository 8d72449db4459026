/*
 * Files that the program brings along: gnuplot templates, and what the page
 * of a report is made of. The build makes the text from plots/ and from
 * harness/report/page/; nothing is looked for at run time.
 */
#ifndef STAVE_ASSETS_H
#define STAVE_ASSETS_H

extern const char sv_asset_style_gp[];
extern const char sv_asset_curves_gp[];
extern const char sv_asset_bars_gp[];
extern const char sv_asset_strip_gp[];
extern const char sv_asset_stack_gp[];
extern const char sv_asset_page_css[];
extern const char sv_asset_page_js[];

#endif
