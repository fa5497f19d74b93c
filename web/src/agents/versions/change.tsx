import type { VersionComparison } from "@beckon/client";
import { writeDollars } from "../../format/index.ts";
import { LongText } from "../../ui/index.ts";
import { fieldName } from "./field-name.ts";
import { TextDiff } from "./text-diff-view.tsx";

type FieldChange = VersionComparison["changes"][number];

interface ChangeProps {
  readonly change: FieldChange;
  readonly from: number;
  readonly to: number;
}

/**
 * A field that differs between two versions. Long texts are compared line by line. Other values are
 * shown side by side.
 */
export function Change({ change: { path, before, after }, from, to }: ChangeProps) {
  const name = fieldName(path);
  const isText = isLong(before) || isLong(after) || path === "/instructions";
  return (
    <li className="flex min-w-0 flex-col gap-2">
      <h3 className="font-semibold break-words">{name}</h3>
      {isText && isTextOrAbsent(before) && isTextOrAbsent(after) ? (
        <TextDiff label={`${name}, changes`} before={before ?? ""} after={after ?? ""} />
      ) : (
        <dl className="grid min-w-0 gap-2 sm:grid-cols-2">
          <Side label={`Version ${from}`} value={shown(path, before)} look="bg-flare-soft" />
          <Side label={`Version ${to}`} value={shown(path, after)} look="bg-moss-soft" />
        </dl>
      )}
    </li>
  );
}

function Side({ label, value, look }: { label: string; value: unknown; look: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <dt className="text-label text-ink-3">{label}</dt>
      <dd
        className={`min-h-8 min-w-0 rounded-control border border-rule px-2 py-1.5 ${value === undefined ? "" : look}`}
      >
        {value === undefined || value === null || value === "" ? (
          <span className="text-ink-3">Not set</span>
        ) : (
          <LongText
            variant="code"
            text={typeof value === "string" ? value : JSON.stringify(value, null, 2)}
          />
        )}
      </dd>
    </div>
  );
}

/** Returns a value in words: an amount of money in dollars, as the settings show it. */
function shown(path: string, value: unknown): unknown {
  if (path === "/limits/max_cost_micros" && typeof value === "number")
    return `${writeDollars(value)} dollars`;
  if (path === "/provider_id" && value === null) return "Built in, or of the operator";
  return value;
}

const isTextOrAbsent = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === "string";
const isLong = (value: unknown) =>
  typeof value === "string" && (value.length > 80 || value.includes("\n"));
