/**
 * The class of syntax errors for parsers without Peggy's code. Its messages and reports are Peggy's to the letter; it is
 * written anew because parsers are loaded by pages, and the same in less text is loaded sooner.
 */
export const ERROR_CLASS = `class peg$SyntaxError extends SyntaxError {
  constructor(message, expected, found, location) {
    super(message);
    this.expected = expected;
    this.found = found;
    this.location = location;
    this.name = "SyntaxError";
  }

  // The message, and the line that it is about where its text is among the sources.
  format(sources) {
    let report = \`Error: \${this.message}\`;
    if (this.location) {
      const { source, start, end } = this.location;
      const known = sources.find((one) => one.source === source);
      const shown = source && typeof source.offset === "function" ? source.offset(start) : start;
      const place = \`\${source}:\${shown.line}:\${shown.column}\`;
      if (known) {
        const line = known.text.split(/\\r\\n|\\n|\\r/g)[start.line - 1];
        const margin = "".padEnd(String(shown.line).length);
        const width = (start.line === end.line ? end.column : line.length + 1) - start.column || 1;
        const carets = "".padEnd(start.column - 1) + "".padEnd(width, "^");
        report += \`\\n --> \${place}\\n\${margin} |\\n\${shown.line} | \${line}\\n\${margin} | \${carets}\`;
      } else report += \`\\n at \${place}\`;
    }
    return report;
  }

  static buildMessage(expected, found) {
    const phrases = [...new Set(expected.map(peg$phrase))].sort();
    const count = phrases.length;
    const list = count < 3 && count > 0 ? phrases.join(" or ") : \`\${phrases.slice(0, -1).join(", ")}, or \${phrases[count - 1]}\`;
    return \`Expected \${list} but \${found ? peg$quoted(found) : "end of input"} found.\`;
  }
}

function peg$phrase({ type, text, parts, inverted, unicode, description }) {
  if (type === "literal") return peg$quoted(text);
  if (type === "any") return "any character";
  if (type === "end") return "end of input";
  if (type === "other") return \`\${description}\`;
  const inside = parts.map((part) => [].concat(part).map(peg$inClass).join("-"));
  return \`[\${inverted ? "^" : ""}\${inside.join("")}]\${unicode ? "u" : ""}\`;
}

function peg$quoted(text) {
  return \`"\${text.replace(/[\\\\"\\p{C}\\p{Mn}\\p{Mc}]/gu, peg$visible)}"\`;
}

function peg$inClass(text) {
  return text.replace(/[\\\\\\]^\\-\\p{C}\\p{Mn}\\p{Mc}]/gu, peg$visible);
}

function peg$visible(character) {
  const code = character.codePointAt(0);
  const named = { 0: "\\\\0", 9: "\\\\t", 10: "\\\\n", 13: "\\\\r" }[code];
  if (named !== undefined) return named;
  const hex = code.toString(16).toUpperCase();
  if (code < 32 || (code > 126 && code < 160)) return \`\\\\x\${hex.padStart(2, "0")}\`;
  return code < 127 ? \`\\\\\${character}\` : \`\\\\u{\${hex}}\`;
}
`;
