#include "readers/relations/run/run_relations.h"

namespace pymemrun {

// The list of tables has this order.
Relations RunRelations(RelationRun* run) {
  Relations relations;
  relations.push_back(PlacesRelation(run));
  relations.push_back(BlocksRelation(run));
  relations.push_back(PagesRelation(run));
  relations.push_back(CallEventsRelation(run));
  relations.push_back(EventSumsRelation(run));
  relations.push_back(HeapEventsRelation(run));
  relations.push_back(PageEventsRelation(run));
  relations.push_back(SamplesRelation(run));
  relations.push_back(CountersRelation(run));
  relations.push_back(MarksRelation(run));
  relations.push_back(GcRunsRelation(run));
  relations.push_back(TaskStepsRelation(run));
  relations.push_back(TasksRelation(run));
  relations.push_back(GilEventsRelation(run));
  relations.push_back(ThreadStatesRelation(run));
  relations.push_back(ThreadsRelation(run));
  relations.push_back(StacksRelation(run));
  relations.push_back(MappingsRelation(run));
  AddReportTables(run, &relations);
  return relations;
}

}  // namespace pymemrun
