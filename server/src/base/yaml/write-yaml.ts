import { Document, visit } from "yaml";

/**
 * Returns `items` as a YAML list without indentation. The text can follow an unindented `key:` as
 * its value. Several results of this function, one after the other, form one list. Multi-line
 * strings are written as block scalars and no line is folded, so that a diff of two exports shows
 * only what changed.
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

/**
 * Matches strings that are only whitespace and contain a space or tab. The library would write them
 * as block scalars, in which they cannot be distinguished from the indentation.
 */
const blankLines = /^(?=.*[ \t])[ \t\n\r]+$/s;
