import { Document, visit } from "yaml";

/**
 * `items` as a list that can stand under a name at the same indent, or after another such list. Texts of several lines are written as
 * such, none is folded: what changes from one export to the next is what has changed.
 */
export function yamlItems(items: readonly unknown[]): string {
  if (items.length === 0) return "";
  const document = new Document(items, {
    version: "1.2",
    schema: "core",
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && blankLines.test(scalar.value))
        scalar.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** Lines of nothing but blanks, tabs too: written as lines, nobody could tell them from the indent. The library writes them so nevertheless. */
const blankLines = /^(?=.*[ \t])[ \t\n\r]+$/s;
