import { toZoned } from "../format/index.ts";
import type { FilterDefinition } from "../ui/index.ts";
import { wordings } from "./actions.ts";
import type { Names } from "./sentence.ts";
import { TimeEditor } from "./time-editor.tsx";

const actions = Object.entries(wordings).map(([value, { label }]) => ({ value, label }));

/**
 * Returns the definitions of the audit log's filters. Their ids are the names of the API's
 * parameters. People and keys can be chosen from a list.
 * @param zone time zone in which times are shown
 */
export function auditFilters(names: Names, zone: string): readonly FilterDefinition[] {
  const named = [...names].flatMap(([id, name]) => {
    if (id.startsWith("usr_")) return [{ value: `user:${id}`, label: name }];
    return id.startsWith("key_") ? [{ value: `key:${id}`, label: `Key ${name}` }] : [];
  });
  return [
    { id: "actor", label: "Actor", options: [...named, { value: "system", label: "Beckon" }] },
    { id: "action", label: "Action", options: actions },
    { id: "target", label: "Resource", placeholder: "Its id, e.g. agt_…" },
    timeFilter("since", "From", zone),
    timeFilter("until", "Until", zone),
  ];
}

function timeFilter(id: string, label: string, zone: string): FilterDefinition {
  return {
    id,
    label,
    display: (value) => {
      const ms = Date.parse(value);
      return Number.isNaN(ms) ? value : toZoned(ms, zone).replace("T", " ");
    },
    editor: (value, choose) => <TimeEditor label={label} value={value} onChoose={choose} />,
  };
}
