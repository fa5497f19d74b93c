import type { MappingMistake, TriggerWarning } from "@beckon/contract";
import { createContext, useContext } from "react";
import type { Draft } from "./draft.ts";

/** What the groups of the settings form share. */
export interface ReceivingForm {
  readonly draft: Draft;
  readonly set: (changed: Partial<Draft>) => void;
  /**
   * Returns what is wrong with a setting, by its path in the API such as `verification.header`;
   * undefined if nothing is.
   */
  readonly errorAt: (path: string) => string | undefined;
  /**
   * Returns the mistake that the server found when it applied the saved filter or template to the
   * last received request; undefined for none, or if the person has edited the text.
   */
  readonly warningAt: (part: MappingMistake["part"]) => TriggerWarning | undefined;
  readonly isReadOnly: boolean;
}

export const ReceivingFormContext = createContext<ReceivingForm | undefined>(undefined);

/**
 * Returns the form around a group of settings.
 * @throws an Error if there is no ReceivingFormContext around the component
 */
export function useReceivingForm(): ReceivingForm {
  const form = useContext(ReceivingFormContext);
  if (form === undefined) throw new Error("A group of settings needs ReceivingFormContext.");
  return form;
}

/** The settings that are typed as text. */
type TextName = {
  [Name in keyof Draft]: Draft[Name] extends string ? Name : never;
}[keyof Draft];

/** Returns the properties of a control for a setting that is typed as text. */
export function useText(name: TextName) {
  const { draft, set, isReadOnly } = useReceivingForm();
  return {
    value: draft[name],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      set({ [name]: target.value }),
    readOnly: isReadOnly,
    spellCheck: false,
    autoComplete: "off",
  };
}
