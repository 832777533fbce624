// Checks the imports of every source file against the table of rooms.
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { packages, type Rooms } from "./rooms.ts";

const specifier =
  /^(?:import|export)\s(?:[\w*{][^;"']*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;

/** The longest room that the path lies in; undefined when none does. */
const roomOf = (rooms: Rooms, path: string): string | undefined =>
  Object.keys(rooms)
    .filter((room) => room === "" || path === room || path.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0];

const isAllowed = (rooms: Rooms, room: string, file: string, name: string): boolean => {
  const allowed = rooms[room] ?? [];
  if (name.startsWith("node:")) return allowed.includes("node:*") || allowed.includes(name);
  if (!name.startsWith(".")) {
    return allowed.some((each) => name === each || name.startsWith(`${each}/`));
  }
  const target = posix.join(posix.dirname(file), name);
  if (allowed.includes(target)) return true;
  if (target.startsWith("..")) return false;
  const targetRoom = roomOf(rooms, target);
  if (targetRoom === undefined) return false;
  return (
    targetRoom === room ||
    allowed.some(
      (each) =>
        each === targetRoom ||
        (each.endsWith("/**") && `${targetRoom}/`.startsWith(each.slice(0, -2))),
    )
  );
};

/** Every breach in the project at this folder, in words. */
export const findBreaches = (project: string): string[] => {
  const breaches: string[] = [];
  for (const [name, rooms] of Object.entries(packages)) {
    const source = join(project, "packages", name, "src");
    for (const file of globSync("**/*.{ts,tsx}", { cwd: source }).sort()) {
      const place = `packages/${name}/src/${file}`;
      const room = roomOf(rooms, file);
      if (room === undefined) {
        breaches.push(`${place} is in no room of scripts/rooms.ts`);
        continue;
      }
      const text = readFileSync(join(source, file), "utf8");
      for (const [, statement, dynamic] of text.matchAll(specifier)) {
        const imported = statement ?? dynamic ?? "";
        if (!isAllowed(rooms, room, file, imported)) {
          breaches.push(
            `${place} may not import ${imported}: see ${room || "the root"} in scripts/rooms.ts`,
          );
        }
      }
    }
  }
  return breaches;
};

if (import.meta.main) {
  const breaches = findBreaches(process.cwd());
  for (const breach of breaches) console.error(breach);
  process.exitCode = breaches.length > 0 ? 1 : 0;
}
