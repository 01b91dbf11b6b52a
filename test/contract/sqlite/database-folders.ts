import { afterAll } from "vitest";
import { DatabaseFolder } from "./open-database.js";

/** @returns what makes folders. They are removed after all tests of the file. */
export function databaseFolders(): (...args: ConstructorParameters<typeof DatabaseFolder>) => DatabaseFolder {
  const folders: DatabaseFolder[] = [];
  afterAll(() => {
    for (const folder of folders) folder.remove();
  });
  return (...args) => {
    const folder = new DatabaseFolder(...args);
    folders.push(folder);
    return folder;
  };
}
