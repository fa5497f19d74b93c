import { useWatch } from "react-hook-form";
import { formatBytes, formatCount } from "../../format/index.ts";

/** Shows the value of a form field in bytes with a larger unit: `4,194,304 = 4 MiB`. */
export function SizeOfField({ name }: { readonly name: string }) {
  const bytes: unknown = useWatch({ name });
  if (typeof bytes !== "number" || !(bytes >= 1024)) return null;
  return `${formatCount(bytes)} = ${formatBytes(bytes)}`;
}
