import { palette } from "../palette.ts";

/** Light and dark by the reader's system, one column on a phone. The page's policy allows this sheet by its hash and nothing else. */
export const pageStyle = `
${palette}* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--back); overflow-wrap: anywhere; }
main { min-width: 0; max-width: 52rem; padding: 1.5rem; }
nav { max-height: 45vh; overflow-y: auto; padding: 1.5rem; font-size: .9rem; border-bottom: 1px solid var(--line); }
nav h2 { margin: 1rem 0 .25rem; font-size: .8rem; letter-spacing: .04em; color: var(--soft); text-transform: capitalize; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li { margin: .15rem 0; }
a { color: var(--mark); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
h1 { margin: 0 0 .5rem; line-height: 1.2; }
main > section > h2 { margin: 3rem 0 0; text-transform: capitalize; }
article { margin: 1.5rem 0; padding-top: 1.5rem; border-top: 1px solid var(--line); }
h3 { margin: 0 0 .25rem; }
h4 { margin: 1rem 0 .25rem; font-size: .9rem; color: var(--soft); }
code, pre { font: .875em/1.5 ui-monospace, monospace; background: var(--box); border-radius: 4px; }
code { padding: .1em .3em; }
pre { margin: .25rem 0; padding: .75rem; overflow-x: auto; overflow-wrap: normal; }
pre code { padding: 0; }
.route { margin: .25rem 0 .5rem; font: 600 .9rem/1.5 ui-monospace, monospace; }
.method { display: inline-block; min-width: 4.5em; color: var(--mark); }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
td:first-child { white-space: nowrap; }
details { margin: .25rem 0; }
summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; max-height: none; border: 0; border-right: 1px solid var(--line); }
}
`;
