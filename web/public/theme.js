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

// Requests what the first screen shows with the page, not after the dashboard's code has been loaded
// and has run. The code takes these responses: see src/data/early-responses.ts.
(() => {
  const [, workspaceId, path = "/"] = /^\/w\/(\w+)(\/.*)?$/.exec(location.pathname) ?? [];
  if (workspaceId === undefined) return;
  const responses = new Map();
  const request = (path, workspace = workspaceId) => {
    const headers = workspace === "" ? {} : { "beckon-workspace": workspace };
    const response = fetch(`/api/public${path}`, { headers });
    // A failure is one of the code's own request later.
    response.catch(() => {});
    responses.set(`${workspace} /api/public${path}`, response);
  };
  request("/me", "");
  request(`/workspaces/${workspaceId}`);
  const runId = /^\/runs\/(run_\w+)$/.exec(path)?.[1];
  if (runId !== undefined) {
    request(`/runs/${runId}`);
    request(`/runs/${runId}/events?view=summary&limit=60`);
  } else if (path === "/") {
    request("/runs?view=summary&limit=100");
    request("/agents?limit=200");
  }
  globalThis.beckonEarlyResponses = responses;

  // The build writes the names of the files to the element (vite.config.ts).
  const screens = { "/": "overview", "/runs": "runs" };
  const files = document.currentScript?.dataset[runId === undefined ? screens[path] : "run"];
  for (const file of files ? files.split(" ") : []) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = `/assets/${file}`;
    document.head.append(link);
  }
})();
