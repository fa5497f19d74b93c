import type { FieldError, UseFormRegisterReturn } from "react-hook-form";
import { messageOf } from "../../data/index.ts";
import { Field, TextInput } from "../../ui/index.ts";
import { AllowAddress } from "../state/allow-address.tsx";
import { defaultBaseUrl } from "./provider-fields.ts";

interface AddressFieldProps {
  readonly kind: string;
  readonly error: FieldError | undefined;
  readonly input: UseFormRegisterReturn;
}

/**
 * The field for the base URL. If the API rejects a private address, the setting that would allow
 * the address is shown too.
 */
export function AddressField({ kind, error, input }: AddressFieldProps) {
  const byDefault = defaultBaseUrl(kind);
  const message = messageOf(error);
  return (
    <>
      <Field
        label="Base URL"
        optional={byDefault !== undefined}
        error={message}
        hint="The root of the API, as Beckon's machine reaches it."
      >
        <TextInput
          {...input}
          mono
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          placeholder={byDefault ?? "https://models.example.com/v1"}
        />
      </Field>
      <AllowAddress message={message} />
    </>
  );
}
