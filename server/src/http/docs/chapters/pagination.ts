import { jsonBlock, prose } from "../html.ts";
import { inThreeLanguages } from "../samples.ts";
import type { Chapter } from "./chapter.ts";

export function pagination(baseUrl: string): Chapter {
  const url = `${baseUrl}/api/public/runs?limit=100`;
  return {
    slug: "pagination",
    title: "Pagination",
    lead: "Lists have pages of `limit` items, and a cursor to the next page.",
    sections: [
      {
        id: "pages",
        title: "Pages",
        html: `${jsonBlock({ ok: true, data: ["…"], next: "c29tZWN1cnNvcg" })}<p>${prose("`limit` is 1 to 200, 50 by default, unless the operation says otherwise. To get the next page, send `next` as the query parameter `after`. The list is complete when `next` is null. Lists are newest first, unless the operation says otherwise.")}</p>
<p>${prose("A cursor is opaque and belongs to its list and filter: with others it is a 400. Items that are created while you read pages do not shift them.")}</p>`,
        samples: inThreeLanguages({
          curl: `curl -sS --fail-with-body \\\n  "${url}" \\\n  -H "x-api-key: $BECKON_KEY"`,
          typescript: `let after = "";
do {
  const response = await fetch(\`${url}\${after}\`, {
    headers: { "x-api-key": process.env.BECKON_KEY ?? "" },
  });
  if (!response.ok) throw new Error(await response.text());
  const { data, next } = (await response.json()) as { data: { id: string }[]; next: string | null };
  for (const run of data) console.log(run.id);
  after = next === null ? "" : \`&after=\${next}\`;
} while (after !== "");`,
          python: `import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

after = ""
while True:
    request = Request(
        f"${url}{after}",
        headers={"x-api-key": os.environ["BECKON_KEY"]},
    )
    try:
        response = urlopen(request)
    except HTTPError as error:
        raise SystemExit(error.read().decode())
    with response:
        page = json.load(response)
    for run in page["data"]:
        print(run["id"])
    if page["next"] is None:
        break
    after = f"&after={page['next']}"`,
        }),
      },
      {
        id: "filtered",
        title: "Filtered lists",
        html: `<p>${prose("A page of a filtered list searches a limited number of rows. It can hold fewer than `limit` items, even none, and still have a `next`: continue until `next` is null.")}</p>`,
      },
    ],
  };
}
