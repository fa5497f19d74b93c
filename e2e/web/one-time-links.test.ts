import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, password, setupToken } from "../../server/test/people.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

/** Tests the pages of one-time links when a call does not reach Beckon, or a session ends. */

const beckon = await startTestBeckon();

/** A page of a link, and what a person does there. */
interface LinkPage {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly submit: string;
  /** The URL of the call that uses the link. */
  readonly call: RegExp;
}

const pages: Record<string, () => Promise<LinkPage>> = {
  "the setup link": async () => ({
    path: `/setup#token=${await setupToken(beckon)}`,
    fields: { "Your name": "Ada", "E-mail": "ada@example.com", Password: password },
    submit: "Create owner",
    call: /\/api\/public\/setup$/,
  }),
  "an invitation": async () => {
    const body = { email: "grace@example.com", role: "viewer" };
    const invited = await beckon.call("/invitations", { body });
    return {
      path: `/invite#token=${invited.body.data.token}`,
      fields: { "Your name": "Grace", Password: password },
      submit: "Join",
      call: /\/invitations\/accept$/,
    };
  },
  "a reset link": async () => {
    const { id } = await addPerson(beckon, { role: "viewer" });
    const made = await beckon.call(`/members/${id}/reset-link`, { method: "POST" });
    return {
      path: `/reset#token=${made.body.data.token}`,
      fields: { "New password": "another long password" },
      submit: "Set password",
      call: /\/password\/reset$/,
    };
  },
};

for (const [name, create] of Object.entries(pages))
  inBrowser(`${name} whose call does not reach Beckon calls no password wrong`, async () => {
    const { path, fields, submit, call } = await create();
    const page = await openDashboard(beckon.url, { path });
    for (const [label, text] of Object.entries(fields))
      await page.getByLabel(label, { exact: true }).fill(text);
    await page.route(call, (route) => route.abort(), { times: 1 });
    const button = page.getByRole("button", { name: submit });
    await button.click();
    await page.getByRole("alert").getByText("Beckon did not respond.").waitFor();
    await button.click();
    await page.waitForURL(/\/w\/wsp_/);
  });

inBrowser("a reset link that is replaced after a lost call calls no password wrong", async () => {
  const { id } = await addPerson(beckon, { role: "viewer" });
  const create = () => beckon.call(`/members/${id}/reset-link`, { method: "POST" });
  const path = `/reset#token=${(await create()).body.data.token}`;
  const page = await openDashboard(beckon.url, { path });
  await page.getByLabel("New password").fill("another long password");
  await page.route(/\/password\/reset$/, (route) => route.abort(), { times: 1 });
  const button = page.getByRole("button", { name: "Set password" });
  await button.click();
  await page.getByRole("alert").getByText("Beckon did not respond.").waitFor();
  await create();
  await button.click();
  await page.getByRole("alert").getByText("This reset link is no longer valid").waitFor();
});

inBrowser("a person whose session ends on an invitation joins with their own account", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const { id, key } = (await beckon.call("/workspaces", { body: { name: "Other" } })).body.data;
  const body = { email: "linus@example.com", role: "viewer" };
  const { data } = (await beckon.call("/invitations", { credential: key, body })).body;
  const path = `/invite#token=${data.token}`;
  const page = await openDashboard(beckon.url, { as: person, path });
  const join = page.getByRole("button", { name: "Join", exact: true });
  await page.getByText(`You are signed in as ${person.email}.`).waitFor();
  await person.call("/sign-out", { method: "POST" });
  await join.click();
  await page.getByText(`You are no longer signed in as ${person.email}.`).waitFor();
  expect(await page.getByLabel("Your name").count()).toBe(0);
  expect(await page.getByLabel("E-mail").inputValue()).toBe(person.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await join.click();
  await page.waitForURL(`${beckon.url}/w/${id}`);
  const members = (await beckon.call("/members", { credential: key })).body.data;
  expect(members).toMatchObject([{ id: person.id }]);
});
