import { type SenderSecrets, senderSecret } from "@beckon/contract";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../data/index.ts";
import { Button, Field, FormError, TextInput } from "../../ui/index.ts";
import type { TriggerIds } from "../requests/queries.ts";
import { useSenderSecret } from "./use-sender-secret.ts";

interface SecretFormProps {
  readonly trigger: TriggerIds;
  /** For how long the previous secret stays valid, in seconds. Default: 0. */
  readonly graceSeconds?: number;
  readonly onSaved: (secrets: SenderSecrets) => void;
}

/** A field for a secret that the sender has generated. */
export function SecretForm({ trigger, graceSeconds = 0, onSaved }: SecretFormProps) {
  const { set } = useSenderSecret(trigger);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const save = useMutation({
    mutationFn: (secret: string) => set({ secret, grace_seconds: graceSeconds }),
    onSuccess: onSaved,
  });
  const submit = () => {
    const parsed = senderSecret.safeParse(text.trim());
    setProblem(text.trim() === "" ? "Fill this in." : messageOf(parsed.error?.issues[0]));
    if (parsed.success) save.mutate(parsed.data);
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      className="flex min-w-0 flex-col gap-2"
    >
      <div className="flex min-w-0 items-end gap-2">
        <div className="min-w-0 flex-1">
          <Field label="Secret of the sender" error={problem}>
            <TextInput
              mono
              value={text}
              onChange={({ target }) => {
                setText(target.value);
                setProblem(undefined);
                save.reset();
              }}
              autoComplete="off"
              spellCheck={false}
            />
          </Field>
        </div>
        <span className={problem === undefined ? "" : "pb-5"}>
          <Button type="submit" pending={save.isPending}>
            Save secret
          </Button>
        </span>
      </div>
      <FormError error={save.error} />
    </form>
  );
}
