/** Saves a text as a file on the reader's computer. */
export function download(fileName: string, text: string, type = "application/json"): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  // The URL is revoked later, because the browser reads the blob after this task.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
