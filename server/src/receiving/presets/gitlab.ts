import { definePreset } from "./define-preset.ts";

export const gitlab = definePreset({
  name: "gitlab",
  title: "GitLab",
  instructions:
    "In the project's or group's Settings → Webhooks → Add new webhook, enter the URL as URL and the secret as Secret token (if you use GitLab's signing token instead, choose Standard Webhooks here).",
  url: "https://docs.gitlab.com/user/project/integrations/webhooks/",
  secret_from: "receiver",
  settings: {
    verification: { kind: "header", header: "x-gitlab-token" },
    // GitLab keeps this header when it repeats a request. X-Gitlab-Event-UUID is not unique: if
    // the receiver of a request causes further events in GitLab, these have the same value.
    event_id: { header: "idempotency-key" },
    event_type: { header: "x-gitlab-event" },
    headers: ["x-gitlab-event"],
  },
  examples: [
    {
      name: "push",
      query: {},
      headers: {
        "content-type": "application/json",
        "user-agent": "GitLab/18.5.0",
        "idempotency-key": "f5e5f430-f57b-4e6e-9fac-d9128cd7232f",
        "x-gitlab-event": "Push Hook",
        "x-gitlab-event-uuid": "13792a34-cac6-4fda-95a8-c58e00a3954e",
        "x-gitlab-instance": "https://gitlab.example.com",
        "x-gitlab-webhook-uuid": "02affd2d-2cba-4033-917d-ec22d5dc4b38",
      },
      body: JSON.stringify({
        object_kind: "push",
        event_name: "push",
        before: "95790bf891e76fee5e1747ab589903a6a1f80f22",
        after: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
        ref: "refs/heads/main",
        user_name: "John Smith",
        user_username: "jsmith",
        project: {
          id: 15,
          name: "Diaspora",
          web_url: "https://gitlab.example.com/mike/diaspora",
          path_with_namespace: "mike/diaspora",
          default_branch: "main",
        },
        commits: [
          {
            id: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
            message: "fixed readme",
            timestamp: "2026-01-03T23:36:29+02:00",
            author: { name: "GitLab dev user", email: "gitlabdev@example.com" },
            added: ["CHANGELOG"],
            modified: ["app/controller/application.rb"],
            removed: [],
          },
        ],
        total_commits_count: 1,
      }),
    },
    {
      name: "merge request opened",
      query: {},
      headers: {
        "content-type": "application/json",
        "user-agent": "GitLab/18.5.0",
        "idempotency-key": "8a3e1a6d-1f1c-4d5a-8f53-3f2d4a8c0f57",
        "x-gitlab-event": "Merge Request Hook",
        "x-gitlab-event-uuid": "b7c9d1f0-5a53-4a7e-9a3c-0a4b8f1d2e61",
        "x-gitlab-instance": "https://gitlab.example.com",
        "x-gitlab-webhook-uuid": "02affd2d-2cba-4033-917d-ec22d5dc4b38",
      },
      body: JSON.stringify({
        object_kind: "merge_request",
        event_type: "merge_request",
        user: { id: 1, name: "Administrator", username: "root" },
        project: { id: 1, name: "Gitlab Test", path_with_namespace: "gitlabhq/gitlab-test" },
        object_attributes: {
          id: 99,
          iid: 1,
          title: "MS-Viewport",
          state: "opened",
          action: "open",
          source_branch: "ms-viewport",
          target_branch: "main",
          url: "https://gitlab.example.com/gitlabhq/gitlab-test/-/merge_requests/1",
        },
      }),
    },
  ],
});
