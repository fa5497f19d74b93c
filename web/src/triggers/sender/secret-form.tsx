import { type SenderSecrets, senderSecret } from "@beckon/contract";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { codeOf, messageOf } from "../../data/index.ts";
import { Field, FormError, TextInput } from "../../ui/index.ts";
import type { useSenderSecret } from "./use-sender-secret.ts";

interface SecretFormOptions extends Pick<ReturnType<typeof useSenderSecret>, "set"> {
  /** For how long the previous secret stays valid, in seconds. Default: 0. */
  readonly graceSeconds?: number;
  /** Called when the secret is saved, even if its dialog is no longer shown. */
  readonly onSaved?: () => void;
}

/** Returns the state of a form for a secret that the sender has generated. */
export function useSecretForm({ set, graceSeconds = 0, onSaved }: SecretFormOptions) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const save = useMutation({
    mutationFn: (secret: string): Promise<SenderSecrets> =>
      set({ secret, grace_seconds: graceSeconds }),
    onSuccess: () => {
      setText("");
      onSaved?.();
    },
  });
  return {
    /** Whether a secret is typed that is not saved. */
    isDirty: text !== "",
    isPending: save.isPending,
    /** The secrets of the trigger once the typed one is saved. */
    saved: save.data,
    submit: () => {
      const parsed = senderSecret.safeParse(text.trim());
      setProblem(text.trim() === "" ? "Fill this in." : messageOf(parsed.error?.issues[0]));
      if (parsed.success) save.mutate(parsed.data);
    },
    text,
    problem,
    // The outcome of an earlier attempt was not known, and another secret was typed since.
    error:
      codeOf(save.error) === "idempotency_mismatch"
        ? "The secret that you sent before was saved. Press Save secret again to replace it by this one."
        : save.error,
    change: (typed: string) => {
      setText(typed);
      setProblem(undefined);
      save.reset();
    },
  };
}

/** The field of `useSecretForm`. */
export function SecretInput({ form }: { readonly form: ReturnType<typeof useSecretForm> }) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Field label="Secret of the sender" error={form.problem}>
        <TextInput
          mono
          value={form.text}
          onChange={({ target }) => form.change(target.value)}
          readOnly={form.isPending}
          autoComplete="off"
          spellCheck={false}
        />
      </Field>
      <FormError error={form.error} />
    </div>
  );
}
