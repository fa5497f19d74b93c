/**
 * The screens to which ids link, by the prefix of the id. An id has a link only if the dashboard
 * has the route in `route`.
 */
const targets: Readonly<
  Record<string, { readonly route: string; readonly pathOf: (id: string) => string }>
> = {
  run: { route: "/runs/$runId", pathOf: (id) => `/runs/${id}` },
  agt: { route: "/agents/$agentId/playground", pathOf: (id) => `/agents/${id}/playground` },
  // The URL of a trigger contains its agent's id, which cannot be derived from the trigger's id.
  // The link therefore leads to the runs of the trigger.
  trg: { route: "/runs", pathOf: (id) => `/runs?trigger_id=${id}` },
  sub: { route: "/subscriptions/$subscriptionId", pathOf: (id) => `/subscriptions/${id}` },
};

/**
 * Returns the path of a resource's screen, relative to the workspace; undefined if the text is not
 * an id or the screen does not exist.
 * @param routes the paths of all routes
 */
export function resourcePath(text: string, routes: readonly string[]): string | undefined {
  const [, prefix = ""] = /^([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}$/.exec(text) ?? [];
  const target = targets[prefix];
  if (target === undefined || !routes.includes(`/w/$workspaceId${target.route}`)) return undefined;
  return target.pathOf(text);
}
