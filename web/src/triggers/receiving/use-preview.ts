import type { PreviewTriggerBody } from "@beckon/client";
import type { MappingMistake, Preview } from "@beckon/contract";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { triggersKey } from "../queries.ts";
import type { TriggerIds } from "../requests/queries.ts";

/** The first mistake in the filter and the first in the message template. */
export type Mistakes = Readonly<Partial<Record<MappingMistake["part"], MappingMistake>>>;

/** Time without typing after which a preview is requested, in milliseconds. */
const restMs = 300;

/**
 * Returns the preview of a trigger for a request, and updates it while settings are typed.
 * @param body of `POST …/preview`; undefined while the settings or the request are not valid. The
 * last preview is then kept.
 */
export function usePreview(trigger: TriggerIds, body: PreviewTriggerBody | undefined) {
  const workspace = useWorkspace();
  const text = useRested(body === undefined ? undefined : JSON.stringify(body), restMs);
  const query = useQuery({
    queryKey: [...triggersKey(workspace.id, trigger.agent_id), trigger.id, "preview", text],
    queryFn: ({ signal }): Promise<Preview> =>
      workspace.client.triggers.preview(trigger.agent_id, trigger.id, JSON.parse(text ?? "{}"), {
        signal,
      }),
    enabled: text !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  const mistakes: Mistakes = Object.fromEntries(
    (query.data?.mistakes ?? []).toReversed().map((mistake) => [mistake.part, mistake]),
  );
  return { ...query, mistakes };
}

/**
 * Returns the value once it has not changed for `waitMs`, and until then the previous value. The
 * first value is returned at once.
 */
function useRested<Value>(value: Value, waitMs: number): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), waitMs);
    return () => clearTimeout(timer);
  }, [value, waitMs]);
  return rested;
}
