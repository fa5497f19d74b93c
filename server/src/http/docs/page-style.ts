import { palette } from "../palette.ts";

/** The style of the documentation. The content security policy allows it by its hash. */
export const pageStyle = `
${palette}:root { --get: #0b6e4f; --post: #0b57d0; --patch: #8a5a00; --delete: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --get: #6fd3ad; --post: #8ab4f8; --patch: #f0c268; --delete: #f2a29c; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; color: var(--text); background: var(--back); overflow-wrap: break-word; }
a { color: var(--mark); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; border-radius: 2px; }
header { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 1rem; height: 3.25rem; padding: 0 1.25rem; background: var(--back); border-bottom: 1px solid var(--line); }
header a { font-weight: 600; color: var(--text); }
header a:last-child { margin-left: auto; font-weight: 400; font-size: .9rem; color: var(--mark); }
header label { padding: .25rem .7rem; font-size: .9rem; border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
#menu { position: absolute; opacity: 0; }
#menu:focus-visible + header label { outline: 2px solid var(--mark); outline-offset: 2px; }
nav { display: none; padding: 1rem 1.25rem 2rem; font-size: .9rem; border-bottom: 1px solid var(--line); }
#menu:checked ~ .page nav { display: block; }
nav ul { margin: .1rem 0 .5rem; padding: 0; list-style: none; }
nav li { margin: 0; }
nav .group > a { display: block; padding: .22rem 0; font-weight: 600; color: var(--text); }
nav li a { display: block; padding: .2rem 0 .2rem .9rem; color: var(--soft); border-left: 1px solid var(--line); }
nav li a:hover { color: var(--text); }
nav p { margin: 1rem 0 .25rem; font-size: .75rem; font-weight: 600; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); }
nav .group > a[aria-current=page] { color: var(--mark); }
#search label { display: block; font-weight: 600; }
#search input { width: 100%; margin-top: .25rem; padding: .45rem .6rem; font: inherit; font-weight: 400; color: inherit; background: var(--box); border: 1px solid var(--line); border-radius: 6px; }
#search span { display: block; min-height: 1.4rem; font-size: .8rem; color: var(--soft); }
main { min-width: 0; padding: 1.5rem 1.25rem 3rem; }
h1 { margin: 0 0 .25rem; font-size: 1.9rem; line-height: 1.2; }
h2 { margin: 0 0 .6rem; font-size: 1.3rem; line-height: 1.3; }
h2 a { color: inherit; }
h3 { margin: 1.5rem 0 .4rem; font-size: .95rem; }
.lead { margin: 0 0 1.5rem; color: var(--soft); font-size: 1.05rem; max-width: 44rem; }
p, ul { margin: 0 0 .9rem; max-width: 44rem; }
main ul { padding-left: 1.2rem; }
li { margin: .15rem 0; }
section { margin: 0; padding: 2rem 0; border-top: 1px solid var(--line); }
section:target h2 a { color: var(--mark); }
.text, .code { min-width: 0; }
code, pre { font: .85em/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--box); border-radius: 5px; }
code { padding: .12em .32em; overflow-wrap: anywhere; }
pre { margin: 0 0 1rem; padding: .85rem 1rem; max-height: 30rem; overflow: auto; border: 1px solid var(--line); }
pre code { padding: 0; background: none; overflow-wrap: normal; }
.route { margin: -.3rem 0 .9rem; }
.route code { background: none; padding: 0; font-size: .9rem; }
.method { font: 600 .75rem/1 ui-monospace, monospace; letter-spacing: .02em; color: var(--soft); }
.method.get { color: var(--get); } .method.post { color: var(--post); } .method.patch { color: var(--patch); } .method.delete { color: var(--delete); }
.media { margin: 0 0 .3rem; font-size: .85rem; color: var(--soft); }
table { width: 100%; max-width: 44rem; margin: 0 0 1rem; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .45rem .9rem .45rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-size: .8rem; color: var(--soft); }
td:last-child { padding-right: 0; }
.fields td:first-child { width: 34%; }
td:first-child code { overflow-wrap: normal; }
.type { color: var(--soft); } .limits { color: var(--soft); font-size: .85em; }
.required { font-size: .75rem; font-weight: 600; color: var(--delete); }
details { margin: 0 0 .75rem; }
summary { cursor: pointer; }
main summary { font-size: .95rem; font-weight: 600; }
.samples { margin: 0 0 1rem; padding: 0; border: 0; min-width: 0; display: flex; flex-wrap: wrap; align-items: baseline; }
.samples legend { position: absolute; clip-path: inset(50%); }
.samples input { position: absolute; opacity: 0; }
.samples label { order: -1; padding: .3rem .1rem; margin-right: 1.1rem; font-size: .85rem; color: var(--soft); border-bottom: 2px solid transparent; cursor: pointer; }
.samples input:checked + label { color: var(--text); font-weight: 600; border-color: var(--mark); }
.samples input:focus-visible + label { outline: 2px solid var(--mark); outline-offset: 2px; }
.samples pre { display: none; width: 100%; margin: .5rem 0 0; }
.samples input:checked + label + pre { display: block; }
figure { margin: 0 0 1rem; }
figcaption { margin-bottom: .4rem; font-size: .85rem; color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: .9rem; max-width: none; margin: 0 0 1rem; padding: 0; list-style: none; }
main ul.cards { padding: 0; }
.cards li { margin: 0; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; }
.cards p { margin: .2rem 0 0; font-size: .9rem; color: var(--soft); }
.pages { max-width: none; display: flex; flex-wrap: wrap; gap: 1rem; justify-content: space-between; padding-top: 1.5rem; border-top: 1px solid var(--line); }
@media (min-width: 62rem) {
  header label { display: none; }
  .page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  nav, #menu:checked ~ .page nav { display: block; position: sticky; top: 3.25rem; height: calc(100vh - 3.25rem); overflow-y: auto; border: 0; border-right: 1px solid var(--line); }
  main { padding: 2rem 2.5rem 4rem; }
}
@media (min-width: 82rem) {
  .operation { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); gap: 2.5rem; }
  .operation > .code { position: sticky; top: 4.5rem; align-self: start; max-height: calc(100vh - 5rem); overflow-y: auto; }
}
`;
