/** A problem in a file to import. */
export interface ImportProblem {
  /** Which agent it is about: "Agent 2"; undefined if it is about the whole file. */
  readonly where: string | undefined;
  /** What is wrong, with the path of the field within the agent. */
  readonly message: string;
  /** Line of the text, from 1; undefined if it is not known. */
  readonly line: number | undefined;
}

/**
 * Splits the server's error message into its problems, and finds the line of each in the text.
 * The page has no YAML parser, so it finds agents by their indentation and fields by their names.
 */
export function importProblems(message: string, text: string): readonly ImportProblem[] {
  const list = message.split(/; (?=agents\.\d|unknown field|the body |beckon )/);
  return list.map((part) => {
    const syntax = /\bat line (\d+)/.exec(part)?.[1];
    if (syntax !== undefined) return { where: undefined, message: part, line: Number(syntax) };
    const [found, prefix = "", index, field = "", rest = ""] =
      /^(unknown fields? )?agents\.(\d+)(?:\.([^\s,]+))?(.*)$/s.exec(part) ?? [];
    if (found === undefined || index === undefined)
      return { where: undefined, message: part, line: undefined };
    return {
      where: `Agent ${Number(index) + 1}`,
      message: `${prefix}${field}${rest}`.replace(/^ ?\((.*?)\): /, "“$1”: "),
      line: lineOf(text, Number(index), field),
    };
  });
}

/**
 * Returns the line of an agent's field; the line of the agent if the field is not found; undefined
 * if neither is found.
 */
function lineOf(text: string, agent: number, field: string): number | undefined {
  const lines = text.split("\n");
  const list = lines.findIndex((line) => /^\s*"?agents"?\s*:/.test(line));
  if (list === -1) return undefined;
  const starts: number[] = [];
  let indentation: string | undefined;
  for (const [position, line] of lines.entries()) {
    const [, indent] = /^(\s*)(?:-\s|-$|\{)/.exec(line) ?? [];
    if (position <= list || indent === undefined) continue;
    indentation ??= indent;
    if (indent === indentation) starts.push(position);
  }
  const start = starts[agent];
  if (start === undefined) return undefined;
  const name = field.split(".").findLast((part) => !/^\d+$/.test(part));
  if (name === undefined) return start + 1;
  const own = lines.slice(start, starts[agent + 1]).map((line) => line.replace(/^[\s{-]+/, ""));
  const isKey = (line: string) => line.startsWith(`${name}:`) || line.startsWith(`"${name}":`);
  return start + 1 + Math.max(0, own.findIndex(isKey));
}
