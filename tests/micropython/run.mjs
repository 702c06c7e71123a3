// Run Python files on MicroPython: reads {files, setup, expressions} as JSON from standard input and writes
// the answers as JSON. Text is all that crosses, because MicroPython cuts whole numbers to 32 bits on the way.
import { readFileSync } from "node:fs";
import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript/micropython.mjs";

const { files, setup, expressions } = JSON.parse(readFileSync(0, "utf8"));
const micropython = await loadMicroPython({ stdout: console.error, heapsize: 16 * 1024 * 1024 });

const folders = new Set();
for (const [path, source] of Object.entries(files)) {
  const parts = path.split("/").slice(0, -1);
  for (let depth = 1; depth <= parts.length; depth++) {
    const folder = "/" + parts.slice(0, depth).join("/");
    if (!folders.has(folder)) micropython.FS.mkdir(folder);
    folders.add(folder);
  }
  micropython.FS.writeFile("/" + path, source);
}

micropython.globals.set("asked", JSON.stringify({ setup, expressions }));
try {
  micropython.runPython(`
import json, sys
sys.path.insert(0, "/")
from answers import answers
asked = json.loads(asked)
written = json.dumps(answers(asked["setup"], asked["expressions"]))
`);
} catch (error) {
  console.error(error.message); // Python's own traceback; JavaScript's would quote all of MicroPython
  process.exit(1);
}
process.stdout.write(micropython.globals.get("written"));
