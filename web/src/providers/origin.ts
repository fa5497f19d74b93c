/** Returns the label for who configured a provider; undefined for the workspace's own providers. */
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
