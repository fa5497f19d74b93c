import { useWatch } from "react-hook-form";
import { formatBytes, formatCount } from "../../format/index.ts";

/** The number of bytes in a field of the form in words: `4,194,304 = 4 MiB`. */
export function SizeOfField({ name }: { readonly name: string }) {
  const bytes: unknown = useWatch({ name });
  if (typeof bytes !== "number" || !(bytes >= 1024)) return null;
  return `${formatCount(bytes)} = ${formatBytes(bytes)}`;
}
