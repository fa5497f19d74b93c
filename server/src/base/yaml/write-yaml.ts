import { stringify } from "yaml";

/**
 * `items` as a list that can stand under a name at the same indent, or after another such list. Texts of several lines are written as
 * such, none is folded: what changes from one export to the next is what has changed.
 */
export function yamlItems(items: readonly unknown[]): string {
  return items.length === 0 ? "" : stringify(items, { version: "1.2", schema: "core", lineWidth: 0, aliasDuplicateObjects: false });
}
