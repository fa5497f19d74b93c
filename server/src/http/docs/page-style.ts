import { palette } from "./palette.ts";

/** Paths of the dashboard's fonts; undefined if the dashboard is not built. */
export interface PageFonts {
  readonly sans: string | undefined;
  readonly mono: string | undefined;
}

/**
 * Returns the style of the documentation. The content security policy allows it by its hash.
 * Without fonts, the pages use those of the system.
 */
export function pageStyle({ sans, mono }: PageFonts): string {
  return `${fontFace("Atkinson Next", sans)}${fontFace("Atkinson Mono", mono)}${palette}${rules}`;
}

function fontFace(family: string, path: string | undefined): string {
  if (path === undefined) return "";
  return `@font-face { font-family: "${family}"; font-weight: 200 800; font-display: swap; src: url("${path}") format("woff2"); }\n`;
}

const rules = `* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; text-size-adjust: 100%; scrollbar-color: var(--edge) transparent; }
body { margin: 0; font: .9375rem/1.55 var(--sans); color: var(--ink); background: var(--page); overflow-wrap: break-word; }
a { color: var(--tide); text-decoration: none; text-underline-offset: 3px; }
a:hover { text-decoration: underline; }
main p a, main td a { text-decoration: underline; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--tide); outline-offset: 2px; border-radius: 2px; }
::selection { background: var(--pick); color: var(--ink); }
[hidden] { display: none !important; }
header { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: .75rem; height: 3rem; padding: 0 1rem; background: var(--sheet); border-bottom: 1px solid var(--rule); }
header a { display: flex; align-items: center; gap: .5rem; min-height: 2rem; font-weight: 600; color: var(--ink); white-space: nowrap; }
header a:last-child { margin-left: auto; font: .8125rem/1 var(--mono); color: var(--ink-2); }
header svg { flex: none; stroke: currentcolor; }
header svg .beams { stroke: var(--tide); }
header span { font: .75rem/1 var(--mono); color: var(--ink-3); }
header label { display: flex; align-items: center; height: 2rem; padding: 0 .75rem; font-size: .875rem; font-weight: 600; border: 1px solid var(--edge); border-radius: 4px; cursor: pointer; }
#menu { position: absolute; opacity: 0; }
#menu:focus-visible + header label { outline: 2px solid var(--tide); outline-offset: 2px; }
nav { display: none; padding: 1rem 1rem 2rem; font-size: .875rem; line-height: 1.4; border-bottom: 1px solid var(--rule); }
#menu:checked ~ .page nav { display: block; }
nav ul { margin: 0 0 .5rem; padding: 0; list-style: none; }
nav li { margin: 0; }
nav .group > a { display: block; padding: .3125rem .5rem; border-radius: 4px; color: var(--ink); }
nav .group > a:hover, nav li a:hover { background: var(--hover); text-decoration: none; }
nav .group > a[aria-current=page] { font-weight: 600; background: var(--pick); }
nav li a { display: block; padding: .25rem .5rem .25rem 1rem; border-radius: 4px; color: var(--ink-2); }
nav li a:hover { color: var(--ink); }
nav p { margin: 1rem 0 .25rem; padding: 0 .5rem; font-size: .75rem; color: var(--ink-3); }
#search label { display: block; padding: 0 .5rem; font-size: .75rem; font-weight: 600; color: var(--ink-2); }
#search input { width: calc(100% + 1rem); height: 2rem; margin: .25rem -.5rem 0; padding: 0 .5rem; font: 400 .875rem/1 var(--sans); color: var(--ink); background: var(--field); border: 1px solid var(--edge); border-radius: 4px; }
#search input:focus { border-color: var(--tide); outline: 2px solid var(--tide); outline-offset: -1px; }
#search input::placeholder { color: var(--ink-3); opacity: 1; }
#search span { display: block; min-height: 1rem; padding: .25rem .5rem 0; font-size: .75rem; color: var(--ink-3); }
main { min-width: 0; padding: 1.5rem 1rem 3rem; }
h1 { margin: 0 0 .25rem; font-size: 1.5rem; font-weight: 600; line-height: 1.25; }
h2 { margin: 0 0 .5rem; font-size: 1.125rem; font-weight: 600; line-height: 1.35; }
h2 a { color: inherit; }
h3 { margin: 1.5rem 0 .375rem; font-size: .875rem; font-weight: 600; line-height: 1.4; }
.lead { margin: 0 0 1.5rem; color: var(--ink-2); max-width: 44rem; }
p, ul { margin: 0 0 .875rem; max-width: 44rem; }
main ul { padding-left: 1.25rem; }
li { margin: .125rem 0; }
section { margin: 0; padding: 2rem 0; border-top: 1px solid var(--rule); }
section:target h2 a { color: var(--tide); }
.text, .code { min-width: 0; }
code, pre { font: .8125rem/1.5 var(--mono); background: var(--well); border-radius: 4px; }
p code, td code, li code { padding: .0625rem .25rem; }
code { overflow-wrap: anywhere; }
pre { margin: 0 0 1rem; padding: .75rem; max-height: 30rem; overflow: auto; border: 1px solid var(--rule); tab-size: 2; }
pre code { padding: 0; background: none; overflow-wrap: normal; }
.route { margin: -.25rem 0 .875rem; }
.route code { background: none; padding: 0; }
.method { font: 600 .75rem/1 var(--mono); color: var(--ink-2); }
.method.get { color: var(--moss); } .method.post { color: var(--tide); } .method.patch { color: var(--brass); } .method.delete { color: var(--flare); }
.media { margin: 0 0 .25rem; font-size: .8125rem; color: var(--ink-2); }
table { width: 100%; max-width: 44rem; margin: 0 0 1rem; border-collapse: collapse; font-size: .875rem; line-height: 1.45; }
th, td { padding: .4375rem .75rem .4375rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule); }
th { font-size: .75rem; font-weight: 400; color: var(--ink-3); }
td:last-child { padding-right: 0; }
.fields td:first-child { width: 34%; }
td:first-child code { padding: 0; background: none; overflow-wrap: normal; }
.type { color: var(--ink-2); } .limits { color: var(--ink-3); font-size: .8125rem; }
.required { font-size: .75rem; font-weight: 600; color: var(--flare); }
details { margin: 0 0 .75rem; }
summary { cursor: pointer; }
main summary { font-size: .875rem; font-weight: 600; }
.samples { margin: 0 0 1rem; padding: 0; border: 0; min-width: 0; display: flex; flex-wrap: wrap; align-items: baseline; }
.samples legend { position: absolute; clip-path: inset(50%); }
.samples input { position: absolute; opacity: 0; }
.samples label { order: -1; padding: .375rem 0; margin-right: 1.25rem; font-size: .875rem; color: var(--ink-2); border-bottom: 2px solid transparent; cursor: pointer; }
.samples label:hover { color: var(--ink); }
.samples input:checked + label { color: var(--ink); font-weight: 600; border-color: var(--tide); }
.samples input:focus-visible + label { outline: 2px solid var(--tide); outline-offset: 2px; }
.samples pre { display: none; width: 100%; margin: .5rem 0 0; }
.samples input:checked + label + pre { display: block; }
figure { margin: 0 0 1rem; }
figcaption { margin-bottom: .375rem; font-size: .75rem; color: var(--ink-3); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: .75rem; max-width: none; margin: 0 0 1rem; padding: 0; list-style: none; }
main ul.cards { padding: 0; }
.cards li { position: relative; margin: 0; padding: .75rem 1rem; background: var(--sheet); border: 1px solid var(--rule); border-radius: 4px; }
.cards li:hover { background: var(--hover); }
.cards li > a { font-weight: 600; color: var(--ink); }
.cards li > a::after { content: ""; position: absolute; inset: 0; }
.cards p { margin: .125rem 0 0; font-size: .875rem; line-height: 1.45; color: var(--ink-2); }
.cards p a { position: relative; }
.pages { max-width: none; display: flex; flex-wrap: wrap; gap: 1rem; justify-content: space-between; padding-top: 1.5rem; border-top: 1px solid var(--rule); }
@media (max-width: 24.4rem) {
  header span { display: none; }
}
@media (min-width: 62rem) {
  header { padding: 0 1.5rem; }
  header label { display: none; }
  .page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  nav, #menu:checked ~ .page nav { display: block; position: sticky; top: 3rem; height: calc(100vh - 3rem); overflow-y: auto; border: 0; border-right: 1px solid var(--rule); }
  main { width: 100%; max-width: 84rem; padding: 2rem 2.5rem 4rem; }
}
@media (min-width: 82rem) {
  .operation { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); gap: 2.5rem; }
  .operation > .code { position: sticky; top: 4rem; align-self: start; max-height: calc(100vh - 5rem); overflow-y: auto; }
}
@media (pointer: coarse) {
  header label, #search input { height: 2.75rem; }
  nav .group > a, nav li a { padding-top: .625rem; padding-bottom: .625rem; }
  .samples label { padding: .75rem 0; }
}
@media (forced-colors: active) {
  .samples input:checked + label, nav [aria-current] { outline: 1px solid Highlight; }
}
`;
