import { useEffectEvent, useLayoutEffect } from "react";
import type { UseFormReturn } from "react-hook-form";
import { useKept } from "../../data/index.ts";
import type { NewAgentFields } from "./agent-fields.ts";

/** The API key is not kept, because it is a secret. */
const keptFields = ["name", "model", "instructions", "url"] as const;

/**
 * Keeps what is typed into the form of a new agent over a reload. Leaving the form deletes it: then
 * the agent is created, or the person chose to discard it.
 * @param id names the form, for example by its template
 */
export function useKeptFields(form: UseFormReturn<NewAgentFields>, id: string): void {
  const { getFieldState, setValue, subscribe } = form;
  const [kept, keep] = useKept<Partial<NewAgentFields>>("new agent", id, {});
  const restore = useEffectEvent(() => {
    for (const name of keptFields) {
      const value = kept[name];
      if (value !== undefined) setValue(name, value, { shouldDirty: true });
    }
  });
  const store = useEffectEvent((values: NewAgentFields) => {
    const edited = keptFields.filter((name) => getFieldState(name).isDirty);
    keep(Object.fromEntries(edited.map((name) => [name, values[name]])));
  });
  const forget = useEffectEvent(() => keep({}));
  useLayoutEffect(() => {
    restore();
    const stop = subscribe({
      formState: { values: true, dirtyFields: true },
      callback: ({ values }) => store(values),
    });
    return () => {
      stop();
      forget();
    };
  }, [subscribe]);
}
