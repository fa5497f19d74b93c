// Sets the theme before the first paint. This is a file of its own, because the
// Content-Security-Policy forbids inline scripts. If this browser has stored no choice, the setting
// of the operating system applies (`color-scheme` in tokens.css).
(() => {
  try {
    const theme = localStorage.getItem("beckon-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is off: the system's setting applies.
  }
})();

// Requests the data of the first screen while the dashboard's code is still being downloaded. When
// the code runs, it takes these responses (src/data/early-responses.ts).
(() => {
  const [, workspaceId, path = "/"] = /^\/w\/(\w+)(\/.*)?$/.exec(location.pathname) ?? [];
  if (workspaceId === undefined) return;
  const responses = new Map();
  const request = (path, workspace = workspaceId) => {
    const headers = workspace === "" ? {} : { "beckon-workspace": workspace };
    const response = fetch(`/api/public${path}`, { headers });
    // Ignored here: the dashboard's code sends a failed request again and handles its error.
    response.catch(() => {});
    responses.set(`${workspace} /api/public${path}`, response);
  };
  request("/me", "");
  request(`/workspaces/${workspaceId}`);
  const runId = /^\/runs\/(run_\w+)$/.exec(path)?.[1];
  const agentId = /^\/agents\/(agt_\w+)/.exec(path)?.[1];
  if (runId !== undefined) {
    request(`/runs/${runId}`);
    request(`/runs/${runId}/events?view=summary&limit=60`);
  } else if (agentId !== undefined) {
    request(`/agents/${agentId}`);
  } else if (path === "/") {
    request("/runs?view=summary&limit=100");
    request("/agents?limit=200&view=summary");
  }
  globalThis.beckonEarlyResponses = responses;

  // The build writes the file names of these screens into `data-` attributes of this script's
  // element (vite.config.ts).
  const screens = { "/": "overview", "/runs": "runs" };
  const files = document.currentScript?.dataset[runId === undefined ? screens[path] : "run"];
  for (const file of files ? files.split(" ") : []) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = `/assets/${file}`;
    document.head.append(link);
  }
})();
