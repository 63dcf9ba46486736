// The relations of a run file.
#ifndef PYMEMRUN_READERS_RELATIONS_RUN_RUN_RELATIONS_H_
#define PYMEMRUN_READERS_RELATIONS_RUN_RUN_RELATIONS_H_

#include <memory>

#include "readers/relations/engine/relation.h"
#include "readers/relations/run/relation_run.h"

namespace pymemrun {

// All relations, in the order of the list of tables. The run must outlive them;
// null: only their names and columns are needed.
Relations RunRelations(RelationRun* run);

// Each is defined in the file of its name.
std::unique_ptr<Relation> CallEventsRelation(const RelationRun* run);
std::unique_ptr<Relation> EventSumsRelation(const RelationRun* run);
std::unique_ptr<Relation> HeapEventsRelation(const RelationRun* run);
std::unique_ptr<Relation> PageEventsRelation(const RelationRun* run);
std::unique_ptr<Relation> GilEventsRelation(const RelationRun* run);
std::unique_ptr<Relation> ThreadStatesRelation(const RelationRun* run);
std::unique_ptr<Relation> TaskStepsRelation(const RelationRun* run);
std::unique_ptr<Relation> SamplesRelation(const RelationRun* run);
std::unique_ptr<Relation> CountersRelation(const RelationRun* run);
std::unique_ptr<Relation> GcRunsRelation(const RelationRun* run);
std::unique_ptr<Relation> MarksRelation(const RelationRun* run);
// definitions.cc
std::unique_ptr<Relation> ThreadsRelation(const RelationRun* run);
std::unique_ptr<Relation> TasksRelation(const RelationRun* run);
std::unique_ptr<Relation> StacksRelation(const RelationRun* run);
std::unique_ptr<Relation> MappingsRelation(const RelationRun* run);
std::unique_ptr<Relation> BlocksRelation(RelationRun* run);
std::unique_ptr<Relation> PagesRelation(RelationRun* run);
std::unique_ptr<Relation> PlacesRelation(RelationRun* run);
// report_tables.cc: those whose rows reports print.
void AddReportTables(RelationRun* run, Relations* relations);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_RUN_RUN_RELATIONS_H_
