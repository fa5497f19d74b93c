/** Where the id of a thing leads, by its prefix. `route` is the screen that must exist. */
const targets: Readonly<
  Record<string, { readonly route: string; readonly pathOf: (id: string) => string }>
> = {
  agt: { route: "/agents/$agentId", pathOf: (id) => `/agents/${id}` },
  run: { route: "/runs/$runId", pathOf: (id) => `/runs/${id}` },
  // The page of a trigger is below its agent, which the id does not name.
  trg: { route: "/runs", pathOf: (id) => `/runs?trigger_id=${id}` },
  key: { route: "/keys", pathOf: () => "/keys" },
  pri: { route: "/prices", pathOf: () => "/prices" },
  pln: { route: "/plan", pathOf: () => "/plan" },
  prv: { route: "/providers", pathOf: () => "/providers" },
  sub: { route: "/subscriptions/$subscriptionId", pathOf: (id) => `/subscriptions/${id}` },
  usr: { route: "/members", pathOf: () => "/members" },
  wsp: { route: "/settings", pathOf: () => "/settings" },
};

/**
 * Returns the path of the screen of a thing below its workspace, undefined if there is none.
 * @param routes ids of all routes
 */
export function targetPath(id: string, routes: readonly string[]): string | undefined {
  const prefix = id.slice(0, 3);
  const target = Object.hasOwn(targets, prefix) ? targets[prefix] : undefined;
  if (target === undefined || !routes.includes(`/w/$workspaceId${target.route}`)) return undefined;
  return target.pathOf(id);
}
