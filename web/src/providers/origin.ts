/** Who set a provider up, in a word or two; undefined for the workspace itself. */
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
