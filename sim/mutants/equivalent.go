package main

// equivalent says of mutants, by name, why no world can show them. Each has to survive: one that is caught is in the wrong list.
var equivalent = map[string]string{}
