// Sets the theme before the first paint. A file, because the policy admits no inline script.
// Without a stored choice the system's setting applies (tokens.css, `color-scheme`).
(() => {
  try {
    const theme = localStorage.getItem("beckon-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is off: the system's setting applies.
  }
})();

// Downloads the code of the first screen with the page. The router would ask for it only after its
// own code has run. The build writes the names of the files to the element (vite.config.ts).
(() => {
  const path = /^\/w\/[^/]+(.*)$/.exec(location.pathname)?.[1];
  const name =
    path === "" || path === "/"
      ? "overview"
      : path === "/runs"
        ? "runs"
        : path?.startsWith("/runs/")
          ? "run"
          : undefined;
  const files = name === undefined ? undefined : document.currentScript?.dataset[name];
  for (const file of files ? files.split(" ") : []) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = `/assets/${file}`;
    document.head.append(link);
  }
})();
