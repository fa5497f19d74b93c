/**
 * The only script of the documentation. Before the first paint it sets the theme that was chosen in
 * the dashboard. Then it adds the search, which filters the navigation, and remembers the selected
 * language of the samples. Pages work without the script.
 */
export const pageScript = `
try {
  const theme = localStorage.getItem("beckon-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
addEventListener("DOMContentLoaded", () => {
  const box = document.querySelector("#search");
  const field = box.querySelector("input");
  const status = box.querySelector("[role=status]");
  const parts = [...document.querySelectorAll("nav .part")];
  const groups = [...document.querySelectorAll("nav .group")].map((group) => {
    const list = group.querySelector("ul");
    return { group, list, wasHidden: list.hidden, items: [...list.children] };
  });
  box.hidden = false;
  const current = document.querySelector("nav [aria-current]");
  if (current) document.querySelector("nav").scrollTop = current.offsetTop - 120;
  const matches = (element, words) => {
    const text = element.dataset.search.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const search = () => {
    const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let count = 0;
    for (const { group, list, wasHidden, items } of groups) {
      for (const item of items) item.hidden = !matches(item, words);
      const found = items.filter((item) => !item.hidden).length;
      count += found;
      group.hidden = found === 0 && !matches(group, words);
      list.hidden = words.length === 0 && wasHidden;
    }
    for (const part of parts) part.hidden = !part.querySelector(".group:not([hidden])");
    status.textContent = words.length === 0 ? "" : count === 1 ? "1 result" : count + " results";
  };
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      const groupsFound = "nav .group:not([hidden])";
      const found = document.querySelector(groupsFound + " li:not([hidden]) a");
      (found ?? document.querySelector(groupsFound + " > a"))?.click();
    }
    if (event.key === "Escape") {
      field.value = "";
      search();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea")) return;
    event.preventDefault();
    document.querySelector("#menu").checked = true;
    field.focus();
  });
  const choose = (language) => {
    for (const input of document.querySelectorAll(".samples input"))
      if (input.value === language) input.checked = true;
  };
  let saved;
  try {
    saved = localStorage.getItem("beckon-docs-language");
  } catch {}
  if (saved) choose(saved);
  addEventListener("change", ({ target }) => {
    if (!target.matches(".samples input")) return;
    const top = target.getBoundingClientRect().top;
    choose(target.value);
    scrollBy(0, target.getBoundingClientRect().top - top);
    try {
      localStorage.setItem("beckon-docs-language", target.value);
    } catch {}
  });
  for (const link of document.querySelectorAll("nav a"))
    link.addEventListener("click", () => {
      document.querySelector("#menu").checked = false;
    });
});
`;
