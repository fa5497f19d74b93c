import type { Scope } from "@beckon/contract";
import type { UseFormReturn } from "react-hook-form";
import { messageOf, useWorkspace } from "../../data/index.ts";
import { Checkbox, FieldError, useFocusOnError } from "../../ui/index.ts";
import { isOfWorkspace, scopeGroups, scopeTexts } from "../scopes.ts";
import { type KeyFields, scopesIn, withToggled } from "./key-fields.ts";

/**
 * The field with single scopes. It shows those of the chosen preset until one is changed. Scopes
 * that the person cannot grant are disabled, with the reason, except those that the key has: they
 * can be removed.
 */
export function ScopesField({ form }: { readonly form: UseFormReturn<KeyFields> }) {
  const { can } = useWorkspace();
  const { watch, getValues, setValue, formState } = form;
  const [grant, scopes, isLimited] = watch(["grant", "scopes", "isLimited"]);
  const chosen = scopesIn({ grant, scopes, isLimited });
  const initial = formState.defaultValues?.scopes ?? [];
  const error = messageOf(formState.errors.scopes);
  const toggle = (scope: Scope) => {
    const changed = withToggled(getValues(), scope);
    setValue("grant", changed.grant, { shouldDirty: true });
    setValue("scopes", changed.scopes, {
      shouldDirty: true,
      shouldValidate: formState.isSubmitted,
    });
  };
  const isExcluded = (scope: Scope) => isLimited && isOfWorkspace(scope);
  const isChecked = (scope: Scope) => chosen.includes(scope);
  const whyNotOffered = (scope: Scope) => {
    if (isExcluded(scope)) return "Concerns the whole workspace";
    if (can(scope)) return undefined;
    return isChecked(scope)
      ? "Your role does not have it. Uncheck it to save other scopes"
      : "Your role does not have it";
  };
  return (
    <fieldset
      ref={useFocusOnError(error, formState.submitCount)}
      className="flex min-w-0 flex-col gap-3"
      aria-describedby="scopes-error"
    >
      <legend className="sr-only">Scopes</legend>
      <FieldError id="scopes-error" message={error} isAnnounced />
      <div className="grid grid-cols-1 gap-x-6 gap-y-4 rounded-control border border-rule p-3 sm:grid-cols-2">
        {scopeGroups.map(({ resource, scopes }) => (
          <div key={resource} className="flex min-w-0 flex-col gap-2">
            <span className="text-label font-semibold text-ink-2">{resource}</span>
            {scopes.map((scope) => {
              const reason = whyNotOffered(scope);
              return (
                <Checkbox
                  key={scope}
                  label={scope}
                  hint={reason ?? scopeTexts[scope]}
                  disabled={isExcluded(scope) || !(can(scope) || initial.includes(scope))}
                  checked={isChecked(scope)}
                  onChange={() => toggle(scope)}
                />
              );
            })}
          </div>
        ))}
      </div>
    </fieldset>
  );
}
