import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Returns the relative links of the Markdown files below a folder that lead to no file or folder,
 * as `<page>: <link>`.
 */
export function brokenLinks(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((page) => page.endsWith(".md"))
    .flatMap((page) =>
      [...readFileSync(join(folder, page), "utf8").matchAll(/\]\((?!\w+:)([^)#\s]+)/g)]
        .filter(([, link = ""]) => !existsSync(join(folder, dirname(page), link)))
        .map(([, link]) => `${page}: ${link}`),
    );
}
