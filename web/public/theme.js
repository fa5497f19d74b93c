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
