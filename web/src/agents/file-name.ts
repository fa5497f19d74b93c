/** Returns the name of an exported file, without extension: `refund-desk` for "Refund desk". */
export function fileNameOf(name: string): string {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.join("-").slice(0, 60) || "agent";
}
