import { KeyRound } from "lucide-react";
import { messageOf } from "../../data/index.ts";
import { Button, CopyButton, Field, PasswordInput, useFormPending } from "../../ui/index.ts";
import type { SubscriptionFormState } from "./subscription-fields.ts";
import { generateSecret } from "./subscription-fields.ts";

interface SigningSecretFieldProps {
  readonly form: SubscriptionFormState;
  readonly isNew: boolean;
}

/** The secret that signs deliveries. For a new subscription, Beckon can generate it. */
export function SigningSecretField({ form, isNew }: SigningSecretFieldProps) {
  const { register, watch, setValue, formState } = form;
  const secret = watch("secret");
  const isPending = useFormPending();
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Field
        label="Signing secret"
        optional={isNew}
        error={messageOf(formState.errors.secret)}
        hint={
          isNew
            ? "Leave it empty, and Beckon generates one. Otherwise whsec_ and 24 to 64 bytes in base64."
            : "The stored secret was entered for another server. Enter or generate one for this server."
        }
      >
        {/* `new-password` keeps browsers from filling in a person's password of this site. */}
        <PasswordInput {...register("secret")} mono autoComplete="new-password" />
      </Field>
      {isNew ? null : (
        <div className="flex items-center gap-2">
          <Button
            size="small"
            icon={KeyRound}
            disabled={isPending}
            onClick={() =>
              setValue("secret", generateSecret(), { shouldDirty: true, shouldValidate: true })
            }
          >
            Generate
          </Button>
          {secret === "" ? null : <CopyButton text={secret} what="secret" />}
        </div>
      )}
    </div>
  );
}
