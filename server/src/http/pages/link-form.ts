import { palette } from "../palette.ts";

/** Style of the form pages: one column that fits a phone. */
export const formStyle = `
${palette}* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); }
main { max-width: 25rem; margin: 0 auto; padding: 12vh 1.25rem 3rem; }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1rem; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; font-size: .9rem; }
small { display: block; margin-top: .25rem; color: var(--soft); }
input { width: 100%; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--box); border: 1px solid var(--line); border-radius: 6px; }
button { width: 100%; margin-top: 1.5rem; padding: .65rem; font: inherit; font-weight: 600; color: var(--back); background: var(--mark); border: 0; border-radius: 6px; cursor: pointer; }
button:disabled { opacity: .6; cursor: default; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
[role=alert]:not(:empty) { margin: 1rem 0 0; padding: .6rem .75rem; background: var(--box); border-left: 3px solid #d93025; border-radius: 4px; }
a { color: var(--mark); }
`;

/**
 * Script of the form pages. Sends the form and the link's token as JSON, and shows the result.
 * Removes the token from the page's address at once, so that the browser's history does not have
 * it. After a reload, the person must open the link again.
 */
export const formScript = `
const form = document.querySelector("form");
const alert = document.querySelector("[role=alert]");
const button = form.querySelector("button");
const token = new URLSearchParams(location.hash.slice(1)).get("token");
history.replaceState(null, "", location.pathname);
if (!token) {
  button.disabled = true;
  alert.textContent = "This link is incomplete: the part after # is missing. Open the whole link.";
}
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  alert.textContent = "";
  const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
  try {
    const answer = await fetch(form.dataset.post, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token, ...given }),
    });
    if (answer.ok) {
      form.hidden = true;
      document.querySelector("#lead").hidden = true;
      const done = document.querySelector("#done");
      done.hidden = false;
      done.focus();
      return;
    }
    alert.textContent = (await answer.json()).error;
  } catch {
    alert.textContent = "The server did not respond. Try again.";
  }
  button.disabled = false;
});
`;
