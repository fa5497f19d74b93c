import { changePasswordBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import {
  account,
  announceChanges,
  failureOf,
  isUnauthorized,
  messageOf,
  sentOnce,
  useMe,
  useSession,
  wording,
} from "../../data/index.ts";
import { Button, Field, FormError, LeaveGuard, PasswordInput, useToast } from "../../ui/index.ts";
import { tooManySentence } from "../sign-in-errors.ts";
import { sessionsKey } from "./queries.ts";

/**
 * Shown if the response of an attempt was lost. Explains how to find out, by a second attempt,
 * whether the first one was executed.
 */
const again = "Press Change password again: if you have to sign in then, the new one is in use.";

const empty = { current_password: "", new_password: "" };

/** The form that changes the password. A change ends all other sessions. */
export function PasswordForm() {
  const { email } = useMe();
  const session = useSession();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { register, handleSubmit, reset, setError, formState } = useForm({
    resolver: zodResolver(changePasswordBody, { error: wording }),
    mode: "onTouched",
    defaultValues: empty,
  });
  const { errors, isDirty } = formState;
  const change = useMutation({
    mutationFn: (body: typeof empty) => account.password.change(body, sentOnce),
    onSuccess: () => {
      reset(empty);
      toast({ tone: "success", title: "Password changed. Your other sessions have ended." });
      return announceChanges(queryClient, sessionsKey);
    },
    onError: async (thrown) => {
      if (!isUnauthorized(thrown)) return;
      // A 401 can also mean that the session has expired.
      await session.check();
      if (session.isExpired()) return;
      const message =
        "This is not your current password. If you forgot it, ask an owner of the workspace for a reset link.";
      setError("current_password", { message }, { shouldFocus: true });
    },
  });
  return (
    <form
      noValidate
      onSubmit={handleSubmit((body) => change.mutate(body))}
      className="flex flex-col gap-4"
    >
      <LeaveGuard isDirty={() => isDirty} />
      {/* With this field, password managers know which account the password belongs to. */}
      <input hidden readOnly type="email" autoComplete="username" value={email} />
      <Field label="Current password" error={messageOf(errors.current_password)}>
        <PasswordInput {...register("current_password")} autoComplete="current-password" />
      </Field>
      <Field
        label="New password"
        error={messageOf(errors.new_password)}
        hint="At least 12 characters. All your other sessions end."
      >
        <PasswordInput {...register("new_password")} autoComplete="new-password" />
      </Field>
      <FormError
        error={
          change.isError && !isUnauthorized(change.error)
            ? (tooManySentence(change.error) ??
              failureOf(change.error, "the password was changed", again))
            : undefined
        }
      />
      <div>
        <Button type="submit" pending={change.isPending} pendingText="Changing…">
          Change password
        </Button>
      </div>
    </form>
  );
}
