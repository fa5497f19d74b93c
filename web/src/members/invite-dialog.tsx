import type { CreateInvitationAnswer } from "@beckon/client";
import { createInvitationBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Controller, useForm } from "react-hook-form";
import {
  announceChanges,
  announceIfOutdated,
  codeOf,
  failureOf,
  messageOf,
  sentenceOf,
  useIdempotencyKey,
  useWorkspace,
  wording,
} from "../data/index.ts";
import {
  Field,
  FormDialog,
  FormError,
  RadioCards,
  Select,
  ShownOnceDialog,
  TextInput,
  Time,
} from "../ui/index.ts";
import { OtherAddressBanner } from "./other-address-banner.tsx";
import { invitationsKey, membersKey } from "./queries.ts";
import { type Role, roleChoices, roleLabel } from "./roles.ts";

interface InviteDialogProps {
  readonly close: () => void;
}

const again = "Press Make link again without changes: it is made once only.";

const lifetimes = [1, 7, 30, 90].map((days) => ({
  value: String(days),
  label: days === 1 ? "1 day" : `${days} days`,
}));

/** Creates an invitation and shows its link once. Beckon sends no e-mail. */
export function InviteDialog({ close }: InviteDialogProps) {
  const { id: workspaceId, role: ownRole, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { keyOf } = useIdempotencyKey();
  const [made, setMade] = useState<CreateInvitationAnswer>();
  const { control, register, handleSubmit, setError, formState } = useForm({
    resolver: zodResolver(createInvitationBody, { error: wording }),
    mode: "onTouched",
    defaultValues: { email: "", role: "viewer" as Role, expires_in_days: 7 },
  });
  // These must be read during rendering, because React Hook Form only tracks the values that are
  // read there.
  const { errors, isDirty } = formState;
  const invite = useMutation({
    mutationFn: (body: { email: string; role: Role; expires_in_days: number }) =>
      client.invitations.create(body, { idempotencyKey: keyOf(body) }),
    onSuccess: (invitation) => {
      setMade(invitation);
      return announceChanges(queryClient, invitationsKey(workspaceId));
    },
    onError: (thrown) => {
      void announceIfOutdated(
        queryClient,
        thrown,
        invitationsKey(workspaceId),
        membersKey(workspaceId),
      );
      // The code is `conflict` if the address belongs to a member already.
      if (codeOf(thrown) === "conflict")
        setError("email", { message: sentenceOf(thrown) }, { shouldFocus: true });
    },
  });
  if (made !== undefined) return <MadeInvitation invitation={made} close={close} />;
  const isAtField = codeOf(invite.error) === "conflict";
  return (
    <FormDialog
      isDirty={() => isDirty}
      close={close}
      title="Invite to this workspace"
      description="Beckon sends no e-mail: you get a link to send. The first person who uses it joins."
      onSubmit={handleSubmit((body) => invite.mutate(body))}
      submit={{
        label: "Make link",
        pending: invite.isPending,
        pendingText: "Making the link…",
      }}
    >
      <Field label="E-mail" error={messageOf(errors.email)}>
        <TextInput
          {...register("email", { setValueAs: (text: string) => text.trim() })}
          type="email"
          autoComplete="off"
          placeholder="grace@example.com"
          autoFocus
        />
      </Field>
      <Controller
        control={control}
        name="role"
        render={({ field }) => (
          <RadioCards
            label="Role"
            options={roleChoices(ownRole)}
            value={field.value}
            onChange={field.onChange}
            columns={2}
          />
        )}
      />
      <Field label="The link expires after" error={messageOf(errors.expires_in_days)}>
        <Select {...register("expires_in_days", { valueAsNumber: true })} options={lifetimes} />
      </Field>
      <FormError
        error={
          invite.isError && !isAtField
            ? failureOf(invite.error, "the invitation was made", again)
            : undefined
        }
      />
    </FormDialog>
  );
}

interface MadeInvitationProps {
  readonly invitation: CreateInvitationAnswer;
  readonly close: () => void;
}

function MadeInvitation({ invitation, close }: MadeInvitationProps) {
  const { email, role, url, expires_at: expiresAt } = invitation;
  return (
    <ShownOnceDialog
      secret={url}
      title={`Invitation for ${email}`}
      label="Invitation link"
      description="Beckon shows it only now. Send it to this person: it works once."
      onStored={close}
    >
      <OtherAddressBanner url={url} />
      <p className="text-dense text-ink-2">
        Role: {roleLabel(role)}. Expires <Time value={expiresAt} />. Until then you can revoke it
        below the members.
      </p>
    </ShownOnceDialog>
  );
}
