import { useFormState } from "react-hook-form";
import { Banner } from "../../ui/index.ts";
import type { FormValues } from "./form-values.ts";
import { useSettings } from "./settings-context.tsx";

/**
 * Says that the newest version has changes of someone else, and that the unsaved changes of this
 * form are not based on it.
 */
export function OtherVersionNotice() {
  const { base, newestVersion, state } = useSettings();
  const { isDirty } = useFormState<FormValues>();
  if (newestVersion <= base.version || !isDirty || state.name === "saving") return null;
  return (
    <div className="p-3">
      <Banner>
        {`Version ${newestVersion} has changes that were made elsewhere. Your changes are based on version ${base.version} and are merged when you save.`}
      </Banner>
    </div>
  );
}
