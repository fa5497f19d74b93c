import { expect, test } from "vitest";
import { parseHostPort } from "./host-port.ts";

test.each([
  ["ollama:11434", "ollama:11434"],
  ["Ollama.Internal:80", "ollama.internal:80"],
  ["my_tool:8080", "my_tool:8080"],
  ["bücher.example:443", "xn--bcher-kva.example:443"],
  ["10.0.0.5:1", "10.0.0.5:1"],
  ["127.0.0.1:65535", "127.0.0.1:65535"],
  ["[::1]:0080", "[::1]:80"],
  ["[FD00:0:0::5]:443", "[fd00::5]:443"],
  ["[::ffff:10.0.0.5]:443", "[::ffff:a00:5]:443"],
])("%s is %s", (text, expected) => {
  expect(parseHostPort(text)).toBe(expected);
});

test.each([
  ...[
    "",
    "ollama",
    ":80",
    "ollama:",
    "ollama:0",
    "ollama:65536",
    "ollama:080800",
    "ollama:http",
    "ollama:-1",
    "ollama:8_0",
  ],
  ...[
    "http://ollama:80",
    "ollama:80/",
    "ollama/path:80",
    "user@ollama:80",
    "ollama?:80",
    "ollama#:80",
    "a:b:80",
    "ollama:80:80",
  ],
  ...[
    "*:80",
    "*.example.com:80",
    "10.0.0.0/8:80",
    ".example.com:80",
    "example.com.:80",
    "a..b%2e:80",
  ],
  ...[" ollama:80", "ollama:80 ", "olla ma:80", "olla\tma:80", "ollama\n:80", "ollama:80\n"],
  ...[
    "10.1:80",
    "0x7f.0.0.1:80",
    "2130706433:80",
    "010.0.0.1:80",
    "１２７.0.0.1:80",
    "256.0.0.1:80",
    "10.0.0.1.:80",
    "1.2.3.4.5:80",
  ],
  ...["::1:80", "[::1]", "[::1:80", "[fe80::1%eth0]:80", "[::g]:80", "[]:80", "[v1.a]:80"],
])("%j is no host with a port", (text) => {
  expect(parseHostPort(text)).toBeUndefined();
});
