import { updateMeBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import {
  account,
  announceChanges,
  fillIn,
  meQuery,
  messageOf,
  useMe,
  useWorkspace,
  wording,
} from "../../data/index.ts";
import { membersKey } from "../../members/index.ts";
import { Field, FormError, LeaveGuard, SaveBar, TextInput } from "../../ui/index.ts";

interface Fields {
  readonly name?: string | undefined;
}

/** The form for the name of the signed-in person. */
export function NameForm() {
  const { name, email } = useMe();
  const { id: workspaceId } = useWorkspace();
  const queryClient = useQueryClient();
  const form = useForm({
    resolver: zodResolver(updateMeBody, { error: wording }),
    mode: "onTouched",
    values: { name },
    resetOptions: { keepDirtyValues: true },
  });
  const { register, handleSubmit, getValues, formState } = form;
  const { errors, isDirty } = formState;
  const save = useMutation({
    mutationFn: ({ body }: { readonly body: Fields; readonly sent: Fields }) =>
      account.me.update(body.name === undefined ? {} : { name: body.name }),
    onSuccess: async (user, { sent }) => {
      fillIn(form, { name: user.name }, sent);
      await announceChanges(queryClient, meQuery.queryKey, membersKey(workspaceId));
    },
  });
  const state = save.isPending ? "saving" : isDirty ? "dirty" : save.isSuccess ? "saved" : "clean";
  return (
    <form noValidate onSubmit={handleSubmit((body) => save.mutate({ body, sent: getValues() }))}>
      <LeaveGuard isDirty={() => isDirty} />
      <div className="flex flex-col gap-4 p-4">
        <Field label="Your name" error={messageOf(errors.name)}>
          <TextInput {...register("name")} autoComplete="name" dir="auto" />
        </Field>
        <Field label="E-mail" hint="You sign in with it. It cannot be changed.">
          <TextInput value={email} readOnly type="email" autoComplete="off" />
        </Field>
        <FormError error={save.error} />
      </div>
      <SaveBar state={state} changed={["Your name"]} onDiscard={() => fillIn(form, { name })} />
    </form>
  );
}
