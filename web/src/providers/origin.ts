/**
 * Returns a label that says where a provider comes from; undefined for the workspace's own
 * providers. An origin that only a later version of Beckon has is returned unchanged.
 */
export function originLabel(origin: string): string | undefined {
  switch (origin) {
    case "workspace":
      return undefined;
    case "environment":
      return "Environment";
    case "discovered":
      return "Found on this machine";
    case "built_in":
      return "Built in";
    default:
      return origin;
  }
}
