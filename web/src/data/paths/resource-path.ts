/**
 * The screens to which ids link, by the prefix of the id. `route` is the route of the screen. If
 * the dashboard does not have this route, the id has no link.
 */
const targets: Readonly<
  Record<
    string,
    {
      readonly route: string;
      readonly pathOf: (id: string, workspaceId: string) => string | undefined;
    }
  >
> = {
  agt: { route: "/agents/$agentId", pathOf: (id) => `/agents/${id}` },
  run: { route: "/runs/$runId", pathOf: (id) => `/runs/${id}` },
  // The URL of a trigger contains its agent's id, which cannot be derived from the trigger's id.
  // The link therefore leads to the runs of the trigger.
  trg: { route: "/runs", pathOf: (id) => `/runs?trigger_id=${id}` },
  key: { route: "/keys", pathOf: () => "/keys" },
  pri: { route: "/prices", pathOf: () => "/prices" },
  pln: { route: "/plan", pathOf: () => "/plan" },
  prv: { route: "/providers", pathOf: () => "/providers" },
  sub: { route: "/subscriptions/$subscriptionId", pathOf: (id) => `/subscriptions/${id}` },
  usr: { route: "/members", pathOf: () => "/members" },
  wsp: {
    route: "/settings",
    // The owners of the workspace `default` also see changes of other workspaces.
    pathOf: (id, workspaceId) => (id === workspaceId ? "/settings" : undefined),
  },
};

/**
 * Returns the path of a resource's screen, relative to the workspace; undefined if it has none
 * there.
 * @param routes ids of all routes
 */
export function resourcePath(
  id: string,
  workspaceId: string,
  routes: readonly string[],
): string | undefined {
  const prefix = id.slice(0, 3);
  const target = Object.hasOwn(targets, prefix) ? targets[prefix] : undefined;
  if (target === undefined || !routes.includes(`/w/$workspaceId${target.route}`)) return undefined;
  return target.pathOf(id, workspaceId);
}
