import { Button, Field, PasswordInput, TextInput } from "../../../ui/index.ts";
import type { RowsName } from "./tool-values.ts";
import { useMessageAt } from "./use-message-at.ts";

interface SecretValueProps {
  readonly at: `${RowsName}.${number}`;
  readonly index: number;
}

/** The fields for a secret, which can be entered but never read, and for the text before it. */
export function SecretValue({ at, index }: SecretValueProps) {
  const { register, messageAt, watch, setValue } = useMessageAt();
  const { secretId, last4 } = watch(at);
  const isStored = secretId !== "";
  return (
    <div className="grid grid-cols-[6rem_minmax(0,1fr)] items-start gap-2">
      <Field label={`Prefix ${index + 1}`} labelHidden error={messageAt(`${at}.prefix`)}>
        <TextInput
          {...register(`${at}.prefix`)}
          mono
          autoComplete="off"
          placeholder="Bearer "
          title="Sent before the secret. Not secret itself."
        />
      </Field>
      {isStored ? (
        <div className="flex min-h-control min-w-0 items-center gap-2">
          <span className="min-w-0 flex-1 truncate text-dense text-ink-2">{storedText(last4)}</span>
          <Button
            size="small"
            onClick={() => {
              setValue(`${at}.secretId`, "", { shouldDirty: true });
              setValue(`${at}.value`, "", { shouldDirty: true });
            }}
          >
            Replace
          </Button>
        </div>
      ) : (
        <Field
          label={`Secret ${index + 1}`}
          labelHidden
          hint="8 to 4,000 characters. Nobody can read it afterwards."
          error={messageAt(`${at}.value`)}
        >
          <PasswordInput
            {...register(`${at}.value`)}
            mono
            autoComplete="off"
            placeholder="New secret"
          />
        </Field>
      )}
    </div>
  );
}

function storedText(last4: string | null): string {
  if (last4 === null) return "The secret is gone. Enter it again.";
  return last4 === "" ? "A secret is stored." : `A secret is stored: ····${last4}`;
}
